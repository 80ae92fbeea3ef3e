-- A table to which every key is new, so that it only grows; or of a fixed number of keys.
--
-- > GrowingTable grow            a million new keys
-- > GrowingTable grow 1600000    as many as that
-- > GrowingTable replace         50,000 keys, again and again
-- > GrowingTable serve           400,000 keys, of which 5,000 change at a time, with pauses in between
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Monad (forM_, when)
import Data.IORef
import qualified Data.IntMap.Strict as Map
import Data.Maybe (listToMaybe)
import System.Environment (getArgs)

main :: IO ()
main = do
  how : count <- getArgs
  table <- newIORef Map.empty
  let key i = case how of
        "grow" -> i
        "serve" -> i * 7919 `mod` 400000
        _ -> i `mod` 50000
  forM_ [1 .. maybe 1000000 read (listToMaybe count) :: Int] $ \i -> do
    modifyIORef' table (Map.insert (key i) [i])
    when (how == "serve" && i > 400000 && i `mod` 5000 == 0) (threadDelay 10000)
  readIORef table >>= print . Map.size
