{-# LANGUAGE BangPatterns #-}
-- A program that does little but write events: many threads, context switches, sparks, collections, messages.
--   big-log mixed ROUNDS THREADS     a mixture of everything
--   big-log runs ROUNDS THREADS      threads that do nothing but yield: one run each round
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import qualified Data.Map.Strict as M
import Debug.Trace (traceEventIO, traceMarkerIO)
import GHC.Conc (labelThread, par, pseq)
import System.Environment

nfib :: Int -> Int
nfib n | n < 2 = 1
       | otherwise = nfib (n - 1) + nfib (n - 2) + 1
{-# NOINLINE nfib #-}

pfib :: Int -> Int
pfib n | n < 5 = nfib n
       | otherwise = let a = pfib (n - 1); b = pfib (n - 2) in a `par` (b `pseq` (a + b + 1))

mixed :: MVar Int -> MVar (M.Map Int [Int]) -> Int -> Int -> IO ()
mixed box kept rounds i = forM_ [1 .. rounds] $ \k -> do
  case (i + k) `mod` 8 of
    0 -> modifyMVar_ box (\x -> yield >> evaluate (x + k))
    1 -> void (evaluate (pfib (4 + (i * 7 + k) `mod` 7)))
    2 -> void (evaluate (length (show (product [1 .. toInteger (20 + (k * i) `mod` 60)]))))
    3 | k `mod` 64 == 0 -> threadDelay 50
    5 | k `mod` 128 == 0 -> modifyMVar_ kept (evaluate . M.insert ((k * 31 + i) `mod` 4096) [k .. k + 40])
    6 -> void (forkIO (void (evaluate (nfib (k `mod` 9)))))
    _ -> yield
  when (k `mod` 1000 == 0) $ traceEventIO ("worker " ++ show i ++ " at " ++ show k)

main :: IO ()
main = do
  kind : r : t : _ <- getArgs
  box <- newMVar 0
  kept <- newMVar M.empty
  let rounds = read r
      work i | kind == "runs" = replicateM_ rounds yield
             | otherwise = mixed box kept rounds i
  traceMarkerIO "begin"
  ds <- forM [1 .. read t] $ \i -> do
    d <- newEmptyMVar
    tid <- forkIO (work i >> putMVar d ())
    labelThread tid ("worker " ++ show (i :: Int))
    return d
  mapM_ takeMVar ds
  traceMarkerIO "end"
