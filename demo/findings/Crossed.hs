-- | Two threads take two locks, and give up after a while.
--
-- > Crossed crossed    each takes first what the other one takes second
-- > Crossed ordered    both take them in the same order
-- > Crossed late       no locks: each asks somebody who answers too late
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import GHC.Conc (labelThread)
import System.Environment (getArgs)
import System.Timeout (timeout)

main :: IO ()
main = do
  [how] <- getArgs
  one <- newMVar ()
  other <- newMVar ()
  let both first second = withMVar first $ \_ -> do
        threadDelay 500
        withMVar second $ \_ -> void (evaluate (sum [1 .. 1000 :: Int]))
      late = do
        answer <- newEmptyMVar
        _ <- forkIO (threadDelay 45000 >> putMVar answer ())
        takeMVar answer
      jobs = case how of
        "crossed" -> [both one other, both other one]
        "ordered" -> [both one other, both one other]
        _ -> [late, late]
  done <- forM (zip ["left", "right"] jobs) $ \(name, job) -> do
    done <- newEmptyMVar
    thread <- forkIO (replicateM_ 6 (timeout 40000 job) >> putMVar done ())
    labelThread thread name
    pure done
  mapM_ takeMVar done
