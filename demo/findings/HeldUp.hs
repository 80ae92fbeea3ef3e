-- One thread sleeps in C while another allocates. As an unsafe call cannot be
-- interrupted, each collection waits for the sleeper; a safe call is not waited for.
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
  let sleep = if how == "unsafe" then sleepUnsafe else sleepSafe
  _ <- forkIO (forM_ [20000 ..] (evaluate . sumTo))
  done <- newEmptyMVar
  _ <- forkIO $ do
    forM_ [1 .. 15] (\i -> sleep 20000 >> evaluate (sumTo (20000 + i)))
    putMVar done ()
  takeMVar done

-- Allocates, as the numbers may be large.
sumTo :: Int -> Integer
sumTo n = sum [1 .. fromIntegral n]
{-# NOINLINE sumTo #-}
