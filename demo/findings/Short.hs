-- | Many threads with hardly any work each.
--
-- > Short 6000 20     six thousand threads, each adds twenty numbers
-- > Short 1500 900    fifteen hundred, each adds nine hundred; main waits for each two before it makes the next
-- > Short 60 20000    the same in sixty threads, each adds twenty thousand
-- > Short 15000 0     fifteen thousand that do nothing, all alive until the last one is made
-- > Short 3000 1       three thousand, each with an OS thread; main waits for each
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate, mask_)
import Control.Monad
import System.Environment (getArgs)

main :: IO ()
main = do
  [threads, numbers] <- map read <$> getArgs
  let start thread = do
        done <- newEmptyMVar
        _ <- forkIO (evaluate (total (numbers + thread `mod` 3)) >> putMVar done ())
        pure done
  case numbers of
    0 -> do
      made <- replicateM threads (mask_ (forkIO (pure ())))
      done <- newEmptyMVar
      _ <- forkIO (mapM_ killThread made >> putMVar done ())
      takeMVar done
    1 -> replicateM_ threads $ do
      done <- newEmptyMVar
      _ <- forkOS (evaluate (total 300) >> putMVar done ())
      takeMVar done
    900 -> forM_ [1, 3 .. threads] (\thread -> mapM start [thread, thread + 1] >>= mapM_ takeMVar)
    _ -> mapM start [1 .. threads] >>= mapM_ takeMVar

total :: Int -> Integer
total upTo = sum [1 .. toInteger upTo]
{-# NOINLINE total #-}
