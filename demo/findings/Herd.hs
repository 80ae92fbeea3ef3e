-- | Threads that take turns by STM.
--
-- > Herd herd    all wait for one variable: each commit wakes all, and one can go on
-- > Herd ring    each waits for a variable of its own
-- > Herd alert   all wait for the end of a count: each step of main wakes all
module Main (main) where

import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import GHC.Conc (labelThread)
import System.Environment (getArgs)

members, rounds, steps :: Int
members = 32
rounds = 8
steps = 400

main :: IO ()
main = do
  [how] <- getArgs
  turn <- newTVarIO 0
  mine <- replicateM members (newTVarIO False)
  atomically (writeTVar (head mine) True)
  dones <- forM [0 .. members - 1] $ \me -> do
    done <- newEmptyMVar
    let herd k = atomically $ do
          now <- readTVar turn
          check (now == k * members + me)
          writeTVar turn (now + 1)
        alert = atomically (readTVar turn >>= check . (>= steps))
        ring = do
          atomically (readTVar (mine !! me) >>= check >> writeTVar (mine !! me) False)
          atomically (writeTVar (mine !! ((me + 1) `mod` members)) True)
    thread <- forkIO $ do
      case how of
        "alert" -> alert
        _ -> forM_ [0 .. rounds - 1] (if how == "herd" then herd else const ring)
      putMVar done ()
    labelThread thread ("member-" ++ show me)
    pure done
  when (how == "alert") $ do
    yield
    forM_ [1 .. steps] $ \step -> atomically (writeTVar turn step)
  mapM_ takeMVar dones
