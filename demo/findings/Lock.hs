-- | Eight threads that need one lock for nearly all of their work.
--
-- > Lock locked    one lock
-- > Lock own       each a lock of its own
-- > Lock later     one lock: who finds it taken sleeps, and tries again
-- > Lock stm       one lock: a TMVar; and some work without it
module Main (main) where

import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception (evaluate)
import Control.Monad
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  lock <- newMVar 0
  transactional <- newTMVarIO 0
  dones <- forM [1 .. 8] $ \number -> do
    own <- newMVar 0
    done <- newEmptyMVar
    thread <- forkIO $ do
      forM_ [1 .. 250] $ \k ->
        with how (if how == "own" then own else lock) transactional $ \sofar -> do
          more <- evaluate (total (4000 + k + number))
          pure $! sofar + more
      putMVar done ()
    labelThread thread ("locker-" ++ show number)
    pure done
  mapM_ takeMVar dones

with :: String -> MVar Integer -> TMVar Integer -> (Integer -> IO Integer) -> IO ()
with "stm" _ lock change = do
  atomically (takeTMVar lock) >>= change >>= atomically . putTMVar lock
  void (evaluate (total 1000))
with "later" lock other change = do
  taken <- tryTakeMVar lock
  case taken of
    Just sofar -> change sofar >>= putMVar lock
    Nothing -> threadDelay 3000 >> with "later" lock other change
with _ lock _ change = modifyMVar_ lock change

total :: Int -> Integer
total upTo = sum [1 .. toInteger upTo]
{-# NOINLINE total #-}
