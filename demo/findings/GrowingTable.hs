-- A table to which every key is new, so that it only grows; or of a fixed number of keys.
module Main (main) where

import Control.Monad (forM_)
import Data.IORef
import qualified Data.IntMap.Strict as Map
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  table <- newIORef Map.empty
  let key i = if how == "grow" then i else i `mod` 50000
  forM_ [1 .. 1000000 :: Int] (\i -> modifyIORef' table (Map.insert (key i) [i]))
  readIORef table >>= print . Map.size
