-- | Eight threads that need one lock for nearly all of their work.
--
-- > Lock locked    one lock
-- > Lock own       each a lock of its own
-- > Lock later     one lock: who finds it taken sleeps, and tries again
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  lock <- newMVar 0
  dones <- forM [1 .. 8] $ \number -> do
    own <- newMVar 0
    done <- newEmptyMVar
    thread <- forkIO $ do
      forM_ [1 .. 250] $ \k ->
        with how (if how == "own" then own else lock) $ \sofar -> do
          more <- evaluate (total (4000 + k + number))
          pure $! sofar + more
      putMVar done ()
    labelThread thread ("locker-" ++ show number)
    pure done
  mapM_ takeMVar dones

with :: String -> MVar Integer -> (Integer -> IO Integer) -> IO ()
with "later" lock change = do
  taken <- tryTakeMVar lock
  case taken of
    Just sofar -> change sofar >>= putMVar lock
    Nothing -> threadDelay 3000 >> with "later" lock change
with _ lock change = modifyMVar_ lock change

total :: Int -> Integer
total upTo = sum [1 .. toInteger upTo]
{-# NOINLINE total #-}
