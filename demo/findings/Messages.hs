-- | A program that says what it does.
--
-- > Messages 1       for each item
-- > Messages 1000    for each thousandth
module Main (main) where

import Control.Exception (evaluate)
import Control.Monad
import Debug.Trace (traceEventIO)
import System.Environment (getArgs)

main :: IO ()
main = do
  [step] <- map read <$> getArgs
  forM_ [1 .. 20000 :: Int] $ \item -> do
    when (item `mod` step == 0) $ traceEventIO ("item " ++ show item)
    evaluate (sum [1 .. item `mod` 100])
