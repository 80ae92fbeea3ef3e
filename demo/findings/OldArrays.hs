{-# LANGUAGE FlexibleContexts #-}

-- Many small mutable arrays grow old while something else allocates. Arrays of boxed
-- values are looked through in every collection, as they may point to young data;
-- those of plain numbers cannot.
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad (forM, forM_, replicateM)
import Data.Array.IO
import qualified Data.IntMap.Strict as Map
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  case how of
    "large" -> large
    "wide" -> wide
    "kept" -> kept
    "twice" -> twice
    "grid" -> grid
    "pair" -> pair
    "boxed" -> arrays >>= mapM_ (\array -> readArray (array :: IOArray Int Int) 0)
    _ -> arrays >>= mapM_ (\array -> readArray (array :: IOUArray Int Int) 0)

-- Keeps the arrays while it allocates.
arrays :: MArray array Int IO => IO [array Int Int]
arrays = do
  kept <- replicateM 200000 (newArray (0, 7) 0)
  forM_ [1 .. 150 :: Integer] (\i -> evaluate (sum [1 .. 100000 + i]))
  return kept

-- Keeps the arrays while two threads allocate tables of some kilobytes.
pair :: IO ()
pair = do
  old <- replicateM 200000 (newArray (0, 7) 0) :: IO [IOArray Int Int]
  ends <- forM [1, 2] $ \seed -> do
    end <- newEmptyMVar
    _ <- forkIO $ do
      forM_ [1 .. 1000 + seed] $ \step ->
        evaluate (sum (Map.fromList [(key * 7919 `mod` 509, key + step) | key <- [1 .. 400 :: Int]]))
      putMVar end ()
    pure end
  mapM_ takeMVar ends
  mapM_ (\array -> readArray array 0) old

-- One large array of boxed values, of which any place is written now and then: each collection
-- looks through all parts that changed.
large :: IO ()
large = do
  array <- newArray (0, 2000000) 0 :: IO (IOArray Int Int)
  forM_ [1 .. 3000000] (\i -> writeArray array (i * 7919 `mod` 2000000) $! i)
  readArray array 0 >>= print

-- The same, written at places far apart, with small numbers that are not allocated, while a table of some kilobytes
-- is young: each collection copies that, and takes long for the parts of the array.
wide :: IO ()
wide = do
  array <- newArray (0, 2000000) 0 :: IO (IOArray Int Int)
  let go :: Int -> Int -> Map.IntMap Int -> IO Int
      go 0 _ recent = pure (sum recent)
      go steps place recent = do
        let next = (place * 1103515245 + 12345) `mod` 2147483648
        writeArray array (next `mod` 2000000) $! steps `mod` 7
        go (steps - 1) next $! Map.insert (steps `mod` 512) next recent
  go 400000 99 Map.empty >>= print

-- A list that is summed and counted: all of it is alive, beside garbage, so that each collection copies as much as the one
-- before.
twice :: IO ()
twice = do
  let readings = map (\n -> fromIntegral (n * 7919 `mod` 10007) / 10) [1 .. 1500000 :: Int] :: [Double]
  print (sum readings / fromIntegral (length readings))

-- A list of which all stays alive: each collection copies the whole allocation area, for the first or the second time.
kept :: IO ()
kept = do
  let go :: Int -> [Int] -> [Int]
      go 0 list = list
      go n list = let next = n - 1 in next `seq` go next (next : list)
  list <- evaluate (go 3000000 [])
  print (sum list, length list)

-- One large array of boxed values that hardly changes, while tables of some megabytes come and go: each major
-- collection looks at all places of the array.
grid :: IO ()
grid = do
  array <- newArray (0, 2000000) 0 :: IO (IOArray Int Int)
  let table :: Int -> Map.IntMap Int
      table seed = Map.fromList [(key * 7919 `mod` 30011, key + seed) | key <- [1 .. 30000]]
  forM_ [1 .. 60] $ \step -> do
    let made = table step
    writeArray array (step * 7919 `mod` 2000000) $! sum made `mod` 7
  readArray array 7919 >>= print
