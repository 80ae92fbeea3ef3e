-- A timer wakes a program with much live data twice a second. The runtime collects
-- all of it in each gap (-I), though hardly anything has changed.
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Monad (replicateM_)
import Data.IORef
import qualified Data.IntMap.Strict as Map

main :: IO ()
main = do
  table <- newIORef (Map.fromList [(key, [key]) | key <- [1 .. 200000 :: Int]])
  replicateM_ 5 (threadDelay 500000 >> modifyIORef' table (Map.insert 1 [2]))
  readIORef table >>= print . Map.size
