-- Of many short byte strings one in forty is kept. Each is pinned, so that the block of
-- 4 KiB in which it lies is kept as well; copies into ShortByteString can be moved.
module Main (main) where

import Control.Exception (evaluate)
import Control.Monad (forM, replicateM_)
import qualified Data.ByteString as Bytes
import qualified Data.ByteString.Short as Short
import System.Environment (getArgs)
import System.Mem (performMajorGC)

main :: IO ()
main = do
  [how] <- getArgs
  all' <- forM [1 .. 200000 :: Int] (evaluate . Bytes.replicate 200 . fromIntegral)
  let kept = [piece | (i, piece) <- zip [0 :: Int ..] all', i `mod` 40 == 0]
  if how == "pinned"
    then use Bytes.length kept
    else use Short.length (map Short.toShort kept)

use :: (piece -> Int) -> [piece] -> IO ()
use size pieces = do
  _ <- evaluate (foldr seq () pieces)
  replicateM_ 5 performMajorGC
  print (sum (map size pieces))
