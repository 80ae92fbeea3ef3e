-- | Four threads need one value at the same time, and nobody has evaluated it yet.
--
-- > Hole shared    the same value: three wait for the fourth
-- > Hole own       each a value of its own
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  forM_ [1 .. 10] $ \r -> do
    let shared = total (2000000 + r)
    dones <- forM [0 .. 3] $ \cap -> do
      done <- newEmptyMVar
      let value = if how == "shared" then shared else total (2000000 + r + 9 * cap)
      -- Who comes first needs a moment until it is known that it evaluates the value.
      thread <- forkOn cap $ do
        threadDelay (cap * 100)
        _ <- evaluate value
        _ <- evaluate (total (400000 + r + cap))
        putMVar done ()
      labelThread thread ("needs-" ++ show cap)
      pure done
    mapM_ takeMVar dones

total :: Int -> Integer
total upTo = sum [1 .. toInteger upTo]
{-# NOINLINE total #-}
