-- A program whose runs are compared: three workers compute, a writer takes what they have done.
--   pipeline plain
--   pipeline slow      the writer does four times as much for each result
--   pipeline leak      all results are kept
--   pipeline ballast   a large table is kept, so that each full collection copies it
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import qualified Data.IntMap.Strict as M
import Data.IORef
import Debug.Trace (traceEventIO, traceMarkerIO)
import GHC.Conc (labelThread)
import System.Environment (getArgs)
import System.Mem (performMajorGC)

-- Allocates, so that it can be stopped.
work :: Int -> Integer
work k = sum [1 .. fromIntegral k]
{-# NOINLINE work #-}

labelled :: String -> IO () -> IO ()
labelled label body = forkIO body >>= \thread -> labelThread thread label

main :: IO ()
main = do
  [how] <- getArgs
  table <- newIORef (if how == "ballast" then M.fromList [(k, [k]) | k <- [1 .. 150000 :: Int]] else M.empty)
  readIORef table >>= evaluate . M.size
  kept <- newIORef []
  results <- newEmptyMVar
  written <- newEmptyMVar
  starts <- forM [1 .. 3 :: Int] $ \n -> do
    start <- newEmptyMVar
    labelled ("worker-" ++ show n) . forever $ do
      k <- takeMVar start
      forM_ [1 .. 4] $ \i -> evaluate (work (6000 + 10 * k + i)) >>= putMVar results
    pure start
  labelled "writer" . forever $ do
    result <- takeMVar results
    forM_ [1 .. if how == "slow" then 4 else 1] $ \i -> evaluate (work (3000 + i))
    when (how == "leak") $ do
      copies <- pure (replicate 4000 result)
      _ <- evaluate (length copies)
      modifyIORef' kept (copies :)
    putMVar written ()
  forM_ [1 .. 6 :: Int] $ \r -> do
    traceEventIO "START round"
    forM_ starts (`putMVar` r)
    replicateM_ 12 (takeMVar written)
    performMajorGC
    traceEventIO "STOP round"
    when (r == 1) $ traceMarkerIO "warm"
  traceMarkerIO "done"
  readIORef kept >>= print . length
  readIORef table >>= print . M.size
