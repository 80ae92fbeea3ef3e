-- Threads that wait for an answer that never comes, each with its stack; or as many that end.
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad (forM_)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how, count] <- getArgs
  answer <- newEmptyMVar
  forM_ [1 .. read count :: Int] $ \k -> do
    _ <- forkIO $ if how == "wait" then readMVar answer else pure ()
    evaluate (sum [1 .. k `mod` 100])
  putMVar answer ()
