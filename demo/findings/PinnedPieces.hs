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
  if how == "pinned"
    then pieces id >>= use Bytes.length
    else pieces Short.toShort >>= use Short.length

pieces :: (Bytes.ByteString -> piece) -> IO [piece]
pieces keep = fmap concat $ forM [1 .. 200000 :: Int] $ \i -> do
  bytes <- evaluate (Bytes.replicate 200 (fromIntegral i))
  if i `mod` 40 == 0 then pure <$> evaluate (keep bytes) else return []

use :: (piece -> Int) -> [piece] -> IO ()
use size kept = do
  replicateM_ 5 performMajorGC
  print (sum (map size kept))
