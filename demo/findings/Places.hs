-- | Threads that need a place while they sleep, as connections to a slow database are.
--
-- > Places few     3 places for 60 threads
-- > Places many    60 places
-- > Places jobs    workers sleep for each job, and wait for the next one
module Main (main) where

import Control.Concurrent
import Control.Exception (bracket_)
import Control.Monad
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  case how of
    "few" -> asking 3
    "many" -> asking 60
    _ -> working

-- | Each of the threads asks once.
asking :: Int -> IO ()
asking places = do
  free <- newQSem places
  answers <- forM [1 .. 60 :: Int] $ \_ -> do
    answer <- newEmptyMVar
    void . forkIO $ do
      bracket_ (waitQSem free) (signalQSem free) sleep
      putMVar answer ()
    return answer
  mapM_ takeMVar answers

-- | Ten workers, and jobs that come one by one.
working :: IO ()
working = do
  jobs <- newChan
  done <- newEmptyMVar
  replicateM_ 10 . forkIO . forever $ do
    () <- readChan jobs
    sleep
    putMVar done ()
  void . forkIO $ replicateM_ 60 (writeChan jobs () >> threadDelay 2000)
  replicateM_ 60 (takeMVar done)

sleep :: IO ()
sleep = threadDelay 4000
