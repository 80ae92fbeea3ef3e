-- Work that allocates little, and a part in the middle that allocates much: or as much,
-- but all along.
--
-- > Burst once
-- > Burst along
module Main (main) where

import Control.Exception (evaluate)
import Control.Monad (forM_)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  forM_ [1 .. 20 :: Int] $ \part -> do
    _ <- evaluate (spin (20000000 + part) 1)
    evaluate $ case how of
      "along" -> sumTo (500000 + part)
      _ | part == 10 -> sumTo 10000000
        | otherwise -> 0

-- Allocates nothing.
spin :: Int -> Int -> Int
spin 0 acc = acc
spin n acc = spin (n - 1) (acc * 3 + n)
{-# NOINLINE spin #-}

-- Allocates, as the numbers may be large.
sumTo :: Int -> Integer
sumTo n = sum [1 .. fromIntegral n]
{-# NOINLINE sumTo #-}
