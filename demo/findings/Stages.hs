-- | A pipeline: one thread reads, one works, one writes, and each waits for the one before.
--
-- > Stages one     the one in the middle has nearly all of the work
-- > Stages two     two threads share its work
-- > Stages alone   the one in the middle has all of the work but for a thousandth
-- > Stages even    all stages have the same work
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  let (light, heavy, workers) = case how of
        "one" -> (30000, 300000, 1)
        "two" -> (30000, 300000, 2)
        "alone" -> (3000, 3000000, 1)
        _ -> (150000, 150000, 1)
  (toWork, toWrite) <- (,) <$> newEmptyMVar <*> newEmptyMVar
  done <- newEmptyMVar
  stage "read" (forM_ [1 .. items] (\item -> work light item >>= putMVar toWork))
  forM_ [1 .. workers :: Int] $ \_ ->
    stage "work" . replicateM_ (items `div` workers) $ takeMVar toWork >>= work heavy >>= putMVar toWrite
  stage "write" (replicateM_ items (takeMVar toWrite >>= work light) >> putMVar done ())
  takeMVar done

stage :: String -> IO () -> IO ()
stage name loop = do
  thread <- forkIO loop
  labelThread thread name

items :: Int
items = 400

-- | Sums some numbers; they depend on the item, so that it is done each time.
work :: Int -> Int -> IO Int
work size item = evaluate (sum [item .. item + size] `mod` 1000)
