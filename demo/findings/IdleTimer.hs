-- | A timer wakes a program with much live data twice a second. The runtime collects
-- all of it in each gap (-I), though hardly anything has changed.
--
-- > IdleTimer          twice a second
-- > IdleTimer often    each 50 ms, for a runtime that is told to collect soon (-I0.01)
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Monad (replicateM_)
import Data.IORef
import qualified Data.IntMap.Strict as Map
import System.Environment (getArgs)

main :: IO ()
main = do
  often <- elem "often" <$> getArgs
  table <- newIORef (Map.fromList [(key, [key]) | key <- [1 .. 200000 :: Int]])
  let (times, pause) = if often then (10, 50000) else (5, 500000)
  replicateM_ times (threadDelay pause >> modifyIORef' table (Map.insert 1 [2]))
  readIORef table >>= print . Map.size
