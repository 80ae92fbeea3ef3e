-- The programs behind the table of docs/findings.md: each is one way in which a program can
-- treat the collector. predict.mjs runs them with and without the flags that findings name.
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad (forM, forM_, unless)
import Data.Array.Base (unsafeRead, unsafeWrite)
import Data.Array.IO (IOUArray, newArray)
import Data.Bits (xor, (.&.))
import qualified Data.IntMap.Strict as Map
import Data.List (foldl')
import System.Environment (getArgs)

main :: IO ()
main = do
  [name, text] <- getArgs
  let size = read text
  case name of
    "dies" -> print (dies size)
    "cache" -> cache size
    "window" -> print (table 20000 size)
    "records" -> print (table 3000 size)
    "table" -> print (table 200000 size)
    "grows" -> print (Map.size (foldl' (\kept i -> Map.insert (i * 7919) [i, i + 1] kept) Map.empty [1 .. size]))
    "par-dies" -> inParallel (\_ -> evaluate (dies size))
    "par-window" -> inParallel (\k -> evaluate (table (20000 + k) size))
    "par-table" -> inParallel (\k -> evaluate (table (100000 + k) size))
    _ -> error "no such program"

-- All data dies at once.
dies :: Int -> Int
dies size = foldl' (\all k -> all + length (numbers k)) 0 [1 .. size]

numbers :: Int -> [Int]
numbers k = [k .. k + 99]
{-# NOINLINE numbers #-}

-- Lists that live until their key comes again.
table :: Int -> Int -> Int
table keys size = Map.size (foldl' insert Map.empty [1 .. size])
  where
    insert kept i = Map.insert (i * 7919 `mod` keys) [i .. i + 5] kept

-- Numbers that fit the processor's cache, beside data that dies at once.
cache :: Int -> IO ()
cache size = do
  numbersKept <- newArray (0, 131071) 1 :: IO (IOUArray Int Int)
  let go :: Int -> Int -> IO ()
      go k at = unless (k > size) $ do
          value <- unsafeRead numbersKept at
          unsafeWrite numbersKept at (value + length (numbers (value .&. 15)) `div` 64)
          go (k + 1) (((at * 1103515245 + 12345 + value) `xor` k) .&. 131071)
  go 1 0
  unsafeRead numbersKept 0 >>= print

inParallel :: (Int -> IO Int) -> IO ()
inParallel work = do
  done <- forM [1, 2] $ \k -> do
    result <- newEmptyMVar
    _ <- forkIO (work k >>= putMVar result)
    pure result
  forM_ done (\result -> takeMVar result >>= print)
