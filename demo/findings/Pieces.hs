-- Many pieces of a block each are made, and few are kept: each of them holds the megablock
-- in which it lies, so that larger arrays, which need megablocks of their own, come on top.
-- Where those that are kept lie beside each other, the rest is free again.
--
-- > Pieces scattered    keeps one piece of each megablock
-- > Pieces together     keeps as many that lie in few megablocks
module Main (main) where

import Control.Monad (replicateM)
import Data.Array.IO
import Data.Word (Word8)
import System.Environment (getArgs)
import System.Mem (performMajorGC)

main :: IO ()
main = do
  [how] <- getArgs
  pieces <- replicateM 150000 (array 4000)
  let kept = if how == "scattered" then each 200 pieces else take (150000 `div` 200) pieces
  print (length kept)
  performMajorGC
  large <- replicateM 10 (array 4000000)
  performMajorGC
  mapM_ (`readArray` 0) (kept ++ large)

array :: Int -> IO (IOUArray Int Word8)
array bytes = newArray (0, bytes - 1) 0

each :: Int -> [a] -> [a]
each _ [] = []
each step (one : more) = one : each step (drop (step - 1) more)
