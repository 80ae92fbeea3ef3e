-- | Threads that need a place while they sleep, as connections to a slow database are.
--
-- > Places few     3 places for 60 threads
-- > Places many    60 places
-- > Places lost    6 places, most of which are lost: an exception ends a thread that has one
-- > Places stm     the same with places that are counted in STM: each that is given back wakes all
-- > Places chan    one place for 16 threads, handed on in a channel
-- > Places jobs    workers sleep for each job, and wait for the next one
module Main (main) where

import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception (bracket, bracket_, throwIO)
import Control.Monad
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  case how of
    "few" -> asking 3
    "many" -> asking 60
    "lost" -> losing
    "stm" -> losingCounted
    "chan" -> handing
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

-- | Each takes the place from a channel, and puts it back.
handing :: IO ()
handing = do
  free <- newChan
  writeChan free ()
  answers <- forM [1 .. 16 :: Int] $ \_ -> do
    answer <- newEmptyMVar
    void . forkIO $ do
      replicateM_ 5 (bracket (readChan free) (writeChan free) (const sleep))
      putMVar answer ()
    return answer
  mapM_ takeMVar answers

-- | Some of the threads fail, and do not give their place back.
losing :: IO ()
losing = do
  free <- newQSem 6
  answers <- forM [1 .. 60 :: Int] $ \number -> do
    answer <- newEmptyMVar
    void . (`forkFinally` const (putMVar answer ())) $ do
      waitQSem free
      sleep
      when (number >= 12 && number < 17) (throwIO (userError "no answer"))
      signalQSem free
    return answer
  mapM_ takeMVar answers

-- | The same, with a count of the free places.
losingCounted :: IO ()
losingCounted = do
  free <- newTVarIO (6 :: Int)
  answers <- forM [1 .. 24 :: Int] $ \number -> do
    answer <- newEmptyMVar
    void . forkIO $ do
      forM_ [1 .. 3 :: Int] $ \request -> do
        atomically $ readTVar free >>= check . (> 0) >> modifyTVar' free (subtract 1)
        sleep
        unless (request == 1 && number <= 5) $ atomically (modifyTVar' free (+ 1))
      putMVar answer ()
    return answer
  mapM_ takeMVar answers

-- | Ten workers, each with a box for its next job, and jobs that come one by one.
working :: IO ()
working = do
  done <- newEmptyMVar
  boxes <- replicateM 10 newEmptyMVar
  forM_ boxes $ \box -> forkIO . forever $ do
    () <- takeMVar box
    sleep
    putMVar done ()
  void . forkIO . forM_ (take 60 (cycle boxes)) $ \box -> putMVar box () >> threadDelay 2000
  replicateM_ 60 (takeMVar done)

sleep :: IO ()
sleep = threadDelay 4000
