-- | Parallel work with a part in its middle that one thread does alone.
--
-- > Serial serial    the middle is done by main
-- > Serial par       the middle is done by four threads as well
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  myThreadId >>= (`labelThread` "main")
  together
  if how == "serial" then work 60 0 else together
  together

-- | Four threads, a capability each.
together :: IO ()
together = do
  dones <- forM [0 .. 3] $ \cap -> do
    done <- newEmptyMVar
    thread <- forkOn cap (work 15 cap >> putMVar done ())
    labelThread thread ("worker-" ++ show cap)
    pure done
  mapM_ takeMVar dones

work :: Int -> Int -> IO ()
work times salt = forM_ [1 .. times] (evaluate . total . (+ (300000 + salt)))

total :: Int -> Integer
total upTo = sum [1 .. toInteger upTo]
{-# NOINLINE total #-}
