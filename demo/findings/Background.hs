-- | Requests pass through three threads, beside threads that compute all the time.
--
-- > Background 3    each step of a request waits for its turn behind them
-- > Background 1    a second capability answers requests while one computes
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [count] <- getArgs
  forM_ [1 .. read count :: Int] $ \number -> do
    thread <- forkIO (computing number)
    labelThread thread ("background-" ++ show number)
  request <- newEmptyMVar
  answer <- foldM step request ["session", "rules", "reply"]
  replicateM_ 12 $ do
    threadDelay 20000
    putMVar request (1 :: Int)
    takeMVar answer

-- | It allocates, so that the runtime can preempt it.
computing :: Int -> IO ()
computing number = do
  digits <- evaluate (length (show (product [1 .. toInteger (200 + number `mod` 100)])))
  computing (number + digits)

-- | A thread that passes on what it gets.
step :: MVar Int -> String -> IO (MVar Int)
step input name = do
  output <- newEmptyMVar
  thread <- forkIO . forever $ takeMVar input >>= putMVar output . (+ 1)
  labelThread thread name
  pure output
