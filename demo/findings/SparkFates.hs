-- Sparks that help, and all the ways in which they do not.
module Main (main) where

import Control.Exception (evaluate)
import Control.Monad (forM_)
import GHC.Conc (par, pseq)
import System.Environment (getArgs)

main :: IO ()
main = do
  [fate] <- getArgs
  case fate of
    -- Few, large, and used.
    "good" -> useAll (map sumTo [200001 .. 200200])
    -- So small that to hand them over takes as long as to evaluate them.
    "tiny" -> useAll (map (sumTo . (300 +) . (`mod` 7)) [1 .. 3000])
    -- Needed at once by the one who made them.
    "fizzled" -> print (beside (map sumTo [20001 .. 22000]))
    -- More than the pool holds, and tiny.
    "overflowed" -> useAll (map (sumTo . (300 +) . (`mod` 7)) [1 .. 60000])
    -- The same, each before the rest of the list, on a stack as deep as the list is long.
    "list" -> print (sum (sparkEach (map (sumTo . (`mod` 7)) [1 .. 700000])))
    -- Made and forgotten.
    "collected" -> forM_ [1 .. 100] $ \i ->
      sparkAll (map (sumTo . (i +)) [2000 .. 2050]) `pseq` evaluate (sumTo 20000)
    -- Evaluated to the first element of each list; the rest is left to the one who made them.
    "outermost" -> let lists = map sums [4000 .. 4100] in foldr par () lists `pseq` print (sum (map sum lists))
    -- Of values that are there.
    _ -> let values = map (+ 1) [1 .. 50000] in mapM_ evaluate values >> useAll values

sparkAll :: [Integer] -> ()
sparkAll = foldr par ()

useAll :: [Integer] -> IO ()
useAll values = sparkAll values `pseq` print (sum values)

-- | Sparks each value, like parList.
sparkEach :: [Integer] -> [Integer]
sparkEach [] = []
sparkEach (value : values) = value `par` let rest = sparkEach values in rest `seq` (value : rest)

sums :: Int -> [Integer]
sums n = let first = sumTo n in first `seq` first : map (sumTo . (n +)) [1 .. 20]

beside :: [Integer] -> Integer
beside [] = 0
beside (value : values) = value `par` (value + beside values)

sumTo :: Int -> Integer
sumTo n = sum [1 .. fromIntegral n]
{-# NOINLINE sumTo #-}
