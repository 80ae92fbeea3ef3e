{-# LANGUAGE BangPatterns #-}
-- Sorting and searching with sparks (par and pseq, no library): the same machine, once with evenly cut work, once
-- with badly cut work, once with work cut far too small. A marker and a span for each phase.
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Data.Bits
import Debug.Trace (traceEventIO, traceMarkerIO)
import GHC.Conc (labelThread, par, pseq)
import System.Mem (performMajorGC)
import Text.Printf (printf)

-- Strategies by hand ----------------------------------------------------------------------------------------------

-- | Evaluate a list completely.
forceList :: [Int] -> ()
forceList [] = ()
forceList (x : xs) = x `seq` forceList xs

-- | A spark for every element, evaluated as far as @force@ goes; then all results in order.
parMap' :: (b -> ()) -> (a -> b) -> [a] -> [b]
parMap' force f = go
  where
    go [] = []
    go (x : xs) = let y = let v = f x in force v `seq` v
                      ys = go xs
                  in y `par` (ys `pseq` (y : ys))

-- Data ------------------------------------------------------------------------------------------------------------

step :: Int -> Int
step x = (x * 6364136223846793005 + 1442695040888963407) .&. 0x7fffffffffffffff

randoms :: Int -> Int -> [Int]
randoms n seed = map (`shiftR` 20) (take n (tail (iterate step seed)))

-- Sorting ---------------------------------------------------------------------------------------------------------

merge :: [Int] -> [Int] -> [Int]
merge xs [] = xs
merge [] ys = ys
merge xa@(x : xs) ya@(y : ys) | x <= y = x : merge xs ya
                              | otherwise = y : merge xa ys

halve :: [a] -> ([a], [a])
halve (x : y : r) = let (a, b) = halve r in (x : a, y : b)
halve r = (r, [])

mergeSort :: [Int] -> [Int]
mergeSort [] = []
mergeSort [x] = [x]
mergeSort xs = let (a, b) = halve xs in merge (mergeSort a) (mergeSort b)

-- | Halves of equal size down to the given depth: balanced.
parMergeSort :: Int -> [Int] -> [Int]
parMergeSort 0 xs = let s = mergeSort xs in forceList s `seq` s
parMergeSort d xs =
  let (a, b) = halve xs
      sa = parMergeSort (d - 1) a
      sb = parMergeSort (d - 1) b
      fa = forceList sa
      m = merge sa sb
  in fa `par` (forceList sb `pseq` (fa `pseq` (forceList m `seq` m)))

-- | Quicksort with a bad pivot: each spark gets a sixteenth of the range, one long tail stays with one capability.
quickSort :: Int -> [Int] -> [Int]
quickSort 0 xs = mergeSort xs
quickSort d xs =
  let pivot = (17 - d) * 2 ^ (39 :: Int)
      small = mergeSort [x | x <- xs, x < pivot]
      large = quickSort (d - 1) [x | x <- xs, x >= pivot]
      fs = forceList small
  in fs `par` (forceList large `pseq` (fs `pseq` (small ++ large)))

-- Searching -------------------------------------------------------------------------------------------------------

queens :: Int -> Int -> Int
queens n first = place (n - 1) [first]
  where
    place 0 _ = 1
    place k qs = sum [place (k - 1) (q : qs) | q <- [1 .. n], safe q 1 qs]
    safe _ _ [] = True
    safe q !d (c : cs) = q /= c && q /= c + d && q /= c - d && safe q (d + 1) cs

collatz :: Int -> Int
collatz = go 0 where
  go !k 1 = k
  go !k m = go (k + 1) (if even m then m `shiftR` 1 else 3 * m + 1)

-- | One spark for each small number: more than the spark pool holds.
tooFine :: [Int] -> Int
tooFine ns = maximum (parMap' (`seq` ()) (\n -> maximum (map collatz [n * 60 .. n * 60 + 59])) ns)

-- Phases ----------------------------------------------------------------------------------------------------------

phase :: Show a => String -> a -> IO ()
phase name x = do
  traceMarkerIO name
  traceEventIO ("START " ++ name)
  _ <- evaluate (length (show x))
  traceEventIO ("STOP " ++ name)
  threadDelay 12000

main :: IO ()
main = do
  me <- myThreadId
  labelThread me "main (sorter)"
  done <- newEmptyMVar
  prog <- newMVar (0 :: Int)
  ticker <- forkIO $ do
    t <- myThreadId
    labelThread t "progress ticker"
    let loop = do
          threadDelay 100000
          n <- modifyMVar prog (\k -> return (k + 1, k + 1))
          traceEventIO (printf "still sorting, %d00 ms" n)
          loop
    loop
  traceMarkerIO "generate"
  traceEventIO "START generate"
  let lists = parMap' forceList (randoms 32000) [1 .. 8]
  _ <- evaluate (sum (map length lists))
  traceEventIO "STOP generate"
  let everything = concat lists
  phase "merge sort, even halves" (last (parMergeSort 4 everything))
  performMajorGC
  phase "quick sort, bad pivots" (last (quickSort 5 everything))
  performMajorGC
  phase "queens, one spark per column" (sum (parMap' (`seq` ()) (queens 13) [1 .. 13]))
  phase "collatz, far too many sparks" (tooFine [1 .. 12000])
  traceMarkerIO "end"
  killThread ticker
  putMVar done ()
  takeMVar done
