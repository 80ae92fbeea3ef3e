-- | A thread that looks again and again whether something has happened.
--
-- > Poll poll    it looks, and sleeps for a while
-- > Poll wait    it is told
-- > Poll boxes   three threads look for each other's answers
-- > Poll results   four threads look every 10 ms whether what they asked for is there
-- > Poll queue   two threads look into a queue when they have done all, and three wait for their answers
-- > Poll many    forty threads look, each into a box of its own
-- > Poll jobs    each job has a new thread, and main looks every 20 ms whether it is done
-- > Poll refill  five clients pause for a millisecond or two between requests; every 60 ms all compute an answer anew
module Main (main) where

import Control.Concurrent
import Control.Monad
import Data.IORef
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  case how of
    "boxes" -> boxes
    "many" -> many
    "results" -> results
    "jobs" -> jobs
    "queue" -> queue
    "refill" -> refill
    _ -> one how

-- | A box that is looked at every 5 ms.
receive :: MVar a -> IO a
receive box = tryTakeMVar box >>= maybe (threadDelay 5000 >> receive box) pure

boxes :: IO ()
boxes = do
  [first, second, third] <- mapM (const newEmptyMVar) "abc"
  let stage from to = forkIO (forever (receive from >>= \n -> putMVar to $! sum [n .. 60000]))
  _ <- stage first second
  _ <- stage second third
  forM_ [1 .. 30 :: Int] (\n -> putMVar first n >> receive third)

results :: IO ()
results = do
  jobs <- newChan
  _ <- forkIO . forever $ do
    (n, box) <- readChan jobs
    writeIORef box $! Just $! sum [n .. 2000000]
  dones <- forM [1 .. 4 :: Int] $ \client -> do
    done <- newEmptyMVar
    _ <- forkIO $ do
      answers <- forM [1 .. 30] $ \number -> do
        box <- newIORef Nothing
        writeChan jobs (client * number, box)
        let look = readIORef box >>= maybe (threadDelay 10000 >> look) pure
        look
      putMVar done $! sum answers
    pure done
  mapM takeMVar dones >>= print . sum

jobs :: IO ()
jobs = forM_ [1 .. 40 :: Integer] $ \job -> do
  result <- newIORef Nothing
  _ <- forkIO (writeIORef result $! Just $! sum [job .. 60000])
  let look = readIORef result >>= maybe (threadDelay 20000 >> look) pure
  look

queue :: IO ()
queue = do
  jobs <- newIORef []
  let next = atomicModifyIORef' jobs (\all' -> (drop 1 all', take 1 all'))
      work [] = threadDelay 2000
      work ((n, box) : _) = putMVar box $! sum [n .. 40000 :: Integer]
  replicateM_ 2 (forkIO (forever (next >>= work)))
  dones <- forM [1 .. 3] $ \client -> do
    done <- newEmptyMVar
    _ <- forkIO $ do
      answers <- forM [1 .. 100] $ \number -> do
        box <- newEmptyMVar
        atomicModifyIORef' jobs (\all' -> (all' ++ [(client * number, box)], ()))
        takeMVar box
      putMVar done $! sum answers
    pure done
  mapM takeMVar dones >>= print . sum

refill :: IO ()
refill = do
  epoch <- newIORef (0 :: Int)
  _ <- forkIO (forM_ [1 ..] (\n -> threadDelay 60000 >> writeIORef epoch n))
  dones <- forM [1 .. 5] $ \client -> do
    done <- newEmptyMVar
    kept <- newIORef (0, 0)
    _ <- forkIO $ do
      answers <- forM [1 .. 250] $ \number -> do
        threadDelay (1000 + 200 * client)
        now <- readIORef epoch
        (at, answer) <- readIORef kept
        when (at /= now) (writeIORef kept $! (,) now $! sum [now + client .. 9000000])
        pure $! answer + sum [number .. 90000]
      putMVar done $! sum answers
    pure done
  mapM takeMVar dones >>= print . sum

many :: IO ()
many = do
  forM_ [1 .. 40 :: Int] $ \n -> do
    box <- newIORef []
    forkIO . forever $ do
      work <- atomicModifyIORef' box ((,) [])
      if null work then threadDelay 200 else print (sum work + n)
  threadDelay 200000

one :: String -> IO ()
one how = do
  happened <- newIORef False
  told <- newEmptyMVar
  done <- newEmptyMVar
  let look = readIORef happened >>= \yes -> unless yes (threadDelay 200 >> look)
  watcher <- forkIO ((if how == "poll" then look else takeMVar told) >> putMVar done ())
  labelThread watcher "watcher"
  threadDelay 500000
  writeIORef happened True
  putMVar told ()
  takeMVar done
