-- | Many threads with hardly any work each.
--
-- > Short 6000 20     six thousand threads, each adds twenty numbers
-- > Short 60 20000    the same in sixty threads, each adds twenty thousand
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import System.Environment (getArgs)

main :: IO ()
main = do
  [threads, numbers] <- map read <$> getArgs
  dones <- forM [1 .. threads] $ \thread -> do
    done <- newEmptyMVar
    _ <- forkIO (evaluate (total (numbers + thread `mod` 3)) >> putMVar done ())
    pure done
  mapM_ takeMVar dones

total :: Int -> Integer
total upTo = sum [1 .. toInteger upTo]
{-# NOINLINE total #-}
