-- Each piece of work gets a fresh buffer, or all use one.
--
-- > Buffers fresh      a buffer for each piece
-- > Buffers one        one for all
-- > Buffers numbers    no buffers: numbers of 8 KB, which are large objects too
-- > Buffers copies     one thread copies a buffer again and again, another makes small objects
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import Data.Array.IO
import qualified Data.ByteString as B
import Data.List (foldl')
import GHC.Conc (labelThread)
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
  case mode of
    "numbers" -> numbers
    "copies" -> copies
    _ -> buffers mode

-- | Each step makes a number of 8 KB.
numbers :: IO ()
numbers = print (foldl' (\number step -> (number + step) `mod` limit) (limit `div` 3) [1 .. 90000] `mod` 1009)
  where
    limit = 2 ^ (65536 :: Int) :: Integer

buffers :: String -> IO ()
buffers mode = do
  one <- buffer
  let space = if mode == "fresh" then buffer else pure one
  found <- forM [1 .. 800] $ \key -> space >>= \array -> work array key
  print (sum found)

-- | One thread appends to a buffer, which copies all of it each time; the other one counts.
copies :: IO ()
copies = do
  done <- newEmptyMVar
  let thread name work = do
        forked <- forkIO (work >>= putMVar done)
        labelThread forked name
  thread "copier" (B.length <$> evaluate (foldl' B.append B.empty (replicate 1200 (B.replicate 8000 7))))
  thread "counter" (fromInteger <$> evaluate (foldl' count 0 [1 .. 12000000]))
  replicateM_ 2 (takeMVar done >>= print)
  where
    count :: Integer -> Integer -> Integer
    count sofar k = (sofar * 31 + k) `mod` 1000003
