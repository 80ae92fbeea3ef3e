-- A table to which every key is new, so that it only grows; or of a fixed number of keys.
--
-- > GrowingTable grow            a million new keys
-- > GrowingTable grow 1600000    as many as that
-- > GrowingTable replace         50,000 keys, again and again
module Main (main) where

import Control.Monad (forM_)
import Data.IORef
import qualified Data.IntMap.Strict as Map
import Data.Maybe (listToMaybe)
import System.Environment (getArgs)

main :: IO ()
main = do
  how : count <- getArgs
  table <- newIORef Map.empty
  let key i = if how == "grow" then i else i `mod` 50000
  forM_ [1 .. maybe 1000000 read (listToMaybe count) :: Int] (\i -> modifyIORef' table (Map.insert (key i) [i]))
  readIORef table >>= print . Map.size
