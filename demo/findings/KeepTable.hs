-- One thread inserts lists into a table of a fixed number of keys. How many keys there
-- are decides how much is alive, and so what collections cost: many small ones, or
-- large ones of all generations.
module Main (main) where

import qualified Data.IntMap.Strict as Map
import Data.List (foldl')
import System.Environment (getArgs)

main :: IO ()
main = do
  [keys, inserts] <- map read <$> getArgs
  let insert table i = Map.insert (i * 7919 `mod` keys) [i .. i + 5] table
  print (Map.size (foldl' insert Map.empty [1 .. inserts :: Int]))
