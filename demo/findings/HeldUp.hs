-- One thread sleeps in C while another allocates. As an unsafe call cannot be
-- interrupted, each collection waits for the sleeper; a safe call is not waited for.
--
-- > HeldUp unsafe    15 sleeps of 20 ms
-- > HeldUp often     60 sleeps of 4 ms
-- > HeldUp safe      15 safe calls of 20 ms
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad (forM_)
import System.Environment (getArgs)

foreign import ccall unsafe "usleep" sleepUnsafe :: Int -> IO Int
foreign import ccall safe "usleep" sleepSafe :: Int -> IO Int

main :: IO ()
main = do
  [how] <- getArgs
  let sleep = if how == "safe" then sleepSafe else sleepUnsafe
      (times, length') = if how == "often" then (60, 4000) else (15, 20000)
  _ <- forkIO (forM_ [20000 ..] (evaluate . sumTo))
  done <- newEmptyMVar
  _ <- forkIO $ do
    forM_ [1 .. times] (\i -> sleep length' >> evaluate (sumTo (20000 + i)))
    putMVar done ()
  takeMVar done

-- Allocates, as the numbers may be large.
sumTo :: Int -> Integer
sumTo n = sum [1 .. fromIntegral n]
{-# NOINLINE sumTo #-}
