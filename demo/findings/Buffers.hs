-- Each piece of work gets a fresh buffer, or all use one.
module Main (main) where

import Control.Monad
import Data.Array.IO
import System.Environment (getArgs)

size :: Int
size = 96 * 1024

buffer :: IO (IOUArray Int Int)
buffer = newArray (0, size - 1) 0

work :: IOUArray Int Int -> Int -> IO Int
work space key = do
  forM_ [0 .. 99] $ \place -> writeArray space (place * 7 + key `mod` 11) place
  readArray space (key `mod` 600)

main :: IO ()
main = do
  [mode] <- getArgs
  one <- buffer
  let space = if mode == "fresh" then buffer else pure one
  found <- forM [1 .. 800] $ \key -> space >>= \array -> work array key
  print (sum found)
