-- Forty small pieces of work; with "gc" the program asks for a full collection after each. With "full" each piece
-- allocates nearly as much as the area of 1 MiB holds.
module Main (main) where

import Control.Exception (evaluate)
import Control.Monad (forM_, when)
import Data.IORef
import qualified Data.IntMap.Strict as Map
import System.Environment (getArgs)
import System.Mem (performMajorGC)

main :: IO ()
main = do
  [how] <- getArgs
  table <- newIORef (Map.fromList [(key, [key]) | key <- [1 .. 100000 :: Int]])
  forM_ [1 .. 40] $ \i -> do
    modifyIORef' table (Map.insert i [i])
    _ <- evaluate (sum [1 .. fromIntegral ((if how == "full" then 31000 else 20000) + i) :: Integer])
    when (how `elem` ["gc", "full"]) performMajorGC
  readIORef table >>= print . Map.size
