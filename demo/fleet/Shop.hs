-- | A service that answers requests with four threads, for the logs of a made-up fleet.
--
-- > Shop REQUESTS WORK LEAK MAJOR    WORK is the size of an answer; with LEAK 1 answers are kept; after each MAJORth
-- >                                  request of a thread (0: never) it asks for a major collection
module Main (main) where

import Control.Concurrent
import Control.Monad
import Data.IORef
import qualified Data.Map.Strict as Map
import Debug.Trace (traceEventIO, traceMarkerIO)
import System.Environment (getArgs)
import System.Mem (performMajorGC)

main :: IO ()
main = do
  [requests, work, leak, major] <- map read <$> getArgs :: IO [Int]
  cache <- newIORef Map.empty
  kept <- newIORef []
  traceMarkerIO "serving"
  dones <- forM [0 .. 3] $ \thread -> do
    done <- newEmptyMVar
    _ <- forkIO $ do
      forM_ [thread, thread + 4 .. requests - 1] $ \number -> do
        traceEventIO "START request"
        let answer = Map.fromList [(key, key * number) | key <- [1 .. work]]
        atomicModifyIORef' cache (\old -> (Map.insert (number `mod` 100) (sum answer) old, ()))
        when (leak == 1) (atomicModifyIORef' kept (\old -> (answer : old, ())))
        traceEventIO "STOP request"
        when (major > 0 && number `mod` major == 0) performMajorGC
      putMVar done ()
    pure done
  mapM_ takeMVar dones
  answers <- sum <$> readIORef cache
  leaked <- length <$> readIORef kept
  traceMarkerIO ("served " ++ show (answers `mod` 97 + leaked))
