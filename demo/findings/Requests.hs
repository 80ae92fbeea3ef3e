-- | A program that asks somebody outside, who takes a few milliseconds for each answer.
--
-- > Requests one     it asks for the next one when it has the last
-- > Requests many    two threads ask at the same time
-- > Requests asks    it asks six threads in turn, and waits for each answer
-- > Requests groups  it asks six at a time, of which one takes much longer, and waits for all of them
-- > Requests fresh   it makes a thread for each question, and waits for its answer; another thread gives a sign of life
-- > Requests batch   eight threads ask one that answers all of them every 10 ms
-- > Requests clock   a thread asks every 5 ms, and one of four that wait for a queue in STM answers at once
-- > Requests beaten  it asks by a call of the system, while a thread counts milliseconds
-- > Requests calls   two threads ask by calls of the system, and each asks again when it has the answer
-- > Requests callers twelve threads do so
-- > Requests beat    it is asked nothing; a thread gives a sign of life now and then, and main works
{-# LANGUAGE ForeignFunctionInterface #-}
module Main (main) where

import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception (evaluate)
import Control.Monad
import Data.IORef
import Foreign.C.Types (CInt (..), CUInt (..))
import GHC.Conc (labelThread)
import System.Environment (getArgs)

foreign import ccall safe "usleep" usleep :: CUInt -> IO CInt

main :: IO ()
main = do
  [how] <- getArgs
  case how of
    "one" -> forM_ [1 .. 120] request
    "many" -> do
      done <- forM [0, 1] $ \worker -> do
        done <- newEmptyMVar
        _ <- forkIO (forM_ [worker * 60 + 1 .. worker * 60 + 60] request >> putMVar done ())
        pure done
      mapM_ takeMVar done
    "asks" -> do
      boxes <- forM [1 .. 6 :: Int] $ \_ -> do
        (question, answer) <- (,) <$> newEmptyMVar <*> newEmptyMVar
        _ <- forkIO (forever (takeMVar question >>= request >> putMVar answer ()))
        pure (question, answer)
      forM_ [1 .. 20] $ \number -> forM_ boxes (\(question, answer) -> putMVar question number >> takeMVar answer)
    "groups" -> forM_ [1 .. 30] $ \number -> do
      boxes <- forM [1 .. 6 :: Int] $ \place -> do
        done <- newEmptyMVar
        _ <- forkIO (answerAfter (if place == 3 then 20000 else 4000) number >> putMVar done ())
        pure done
      mapM_ takeMVar boxes
    "fresh" -> do
      _ <- forkIO (forever (threadDelay 25000))
      forM_ [1 .. 80] $ \number -> do
        done <- newEmptyMVar
        _ <- forkIO (request number >> putMVar done ())
        takeMVar done
    "batch" -> batch
    "clock" -> clock
    "beaten" -> do
      counter <- newIORef (0 :: Int)
      beat <- forkIO (forever (threadDelay 1000 >> modifyIORef' counter (+ 1)))
      labelThread beat "beat"
      forM_ [1 .. 120] $ \number -> usleep 8000 >> evaluate (sum [1 .. 20000 + number])
    "calls" -> calls 2
    "callers" -> calls 12
    _ -> do
      beat <- forkIO (forever (threadDelay 4000))
      labelThread beat "beat"
      forM_ [1 .. 60] (\round -> evaluate (length (show (product [1 .. 1500 + round :: Integer]))))

-- | Threads share 240 calls.
calls :: Int -> IO ()
calls threads = do
  dones <- forM [1 .. threads] $ \caller -> do
    done <- newEmptyMVar
    thread <- forkIO $ do
      forM_ [1 .. 240 `div` threads] (\number -> usleep 4000 >> evaluate (sum [1 .. 2000 + number * caller]))
      putMVar done ()
    labelThread thread ("caller-" ++ show caller)
    pure done
  mapM_ takeMVar dones

-- | Requests come at fixed times.
clock :: IO ()
clock = do
  queue <- newTBQueueIO 64
  replicateM_ 4 . forkIO . forever $ do
    (number, box) <- atomically (readTBQueue queue)
    total <- evaluate (sum [1 .. 20000 + number :: Integer])
    atomically (putTMVar box total)
  done <- newEmptyMVar
  front <- forkIO $ do
    totals <- forM [1 .. 120] $ \number -> do
      threadDelay 5000
      box <- newEmptyTMVarIO
      atomically (writeTBQueue queue (number, box))
      atomically (takeTMVar box)
    putMVar done $! sum totals
  labelThread front "front"
  takeMVar done >>= print

-- | Requests gather in a list until the next answer.
batch :: IO ()
batch = do
  gathered <- newMVar []
  _ <- forkIO . forever $ do
    threadDelay 10000
    swapMVar gathered [] >>= mapM_ (`putMVar` ())
  dones <- forM [1 .. 8] $ \client -> do
    done <- newEmptyMVar
    _ <- forkIO $ do
      forM_ [1 .. 50] $ \number -> do
        answer <- newEmptyMVar
        _ <- evaluate (sum [1 .. 2000 + client * number])
        modifyMVar_ gathered (pure . (answer :))
        takeMVar answer
      putMVar done ()
    pure done
  mapM_ takeMVar dones

-- | What is outside is a sleep here.
request :: Int -> IO ()
request = answerAfter 4000

answerAfter :: Int -> Int -> IO ()
answerAfter microseconds number = do
  threadDelay microseconds
  void (evaluate (sum [1 .. 20000 + number]))
