-- | A server answers many clients, each of which waits for its answers in a mailbox of its own.
--
-- > Mailboxes 400 2   400 clients with two requests each
module Main (main) where

import Control.Concurrent
import Control.Monad
import Data.List (foldl')
import System.Environment

compute :: Int -> Int
compute key = foldl' (\sum' x -> (sum' * 31 + key * x) `mod` 1000003) 0 [1 .. 20000]

main :: IO ()
main = do
  [clients, requests] <- map read <$> getArgs
  queue <- newChan
  total <- newMVar 0
  ends <- forM [1 .. clients] $ \client -> do
    mailbox <- newEmptyMVar
    end <- newEmptyMVar
    _ <- forkIO $ do
      forM_ [1 .. requests] $ \key -> do
        writeChan queue (mailbox, client + key)
        answer <- takeMVar mailbox
        modifyMVar_ total (\all' -> pure $! (all' + answer) `mod` 1000003)
      putMVar end ()
    pure end
  _ <- forkIO $ replicateM_ (clients * requests) $ do
    (mailbox, key) <- readChan queue
    let answer = compute key
    answer `seq` putMVar mailbox answer
  mapM_ takeMVar ends
  readMVar total >>= print
