-- Requests that take as long as each other, but for those in which a collection of all
-- that is alive happens to fall.
--
-- > SlowRequests 600000    much is alive
-- > SlowRequests 200       little is
module Main (main) where

import Control.Exception (evaluate)
import Control.Monad (forM_)
import qualified Data.IntMap.Strict as Map
import Data.IORef
import Debug.Trace (traceEventIO)
import System.Environment (getArgs)

main :: IO ()
main = do
  [keys] <- map read <$> getArgs
  table <- newIORef $! Map.fromList [(key, [key]) | key <- [1 .. keys]]
  forM_ [1 .. 200 :: Int] $ \i -> do
    traceEventIO "START request"
    evaluate (sumTo (100000 + i `mod` 7))
    modifyIORef' table (Map.insert (i * 37 `mod` keys) [i])
    traceEventIO "STOP request"
  readIORef table >>= print . Map.size

-- Allocates, as the numbers may be large.
sumTo :: Int -> Integer
sumTo n = sum [1 .. fromIntegral n]
{-# NOINLINE sumTo #-}
