-- | A thread that waits for another one.
--
-- > YieldSpin yield    looks again after each yield
-- > YieldSpin wait     waits for an MVar
-- > YieldSpin work     works between yields
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import Data.IORef
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  isDone <- newIORef False
  done <- newEmptyMVar
  over <- newEmptyMVar
  started <- newEmptyMVar
  waiter <- forkOn 0 $ do
    putMVar started ()
    case how of
      "yield" -> let spin = readIORef isDone >>= \is -> unless is (yield >> spin) in spin
      "work" -> forM_ [1 .. 100] (\k -> evaluate (total (1000 + k)) >> yield)
      _ -> takeMVar done
    putMVar over ()
  labelThread waiter "waiter"
  worker <- forkOn 1 $ do
    takeMVar started
    void (evaluate (total 10000))
    writeIORef isDone True
    putMVar done ()
  labelThread worker "worker"
  takeMVar over

total :: Int -> Integer
total upTo = sum [1 .. toInteger upTo]
{-# NOINLINE total #-}
