-- | Eight threads that need one lock for nearly all of their work.
--
-- > Lock locked    one lock
-- > Lock own       each a lock of its own
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
        modifyMVar_ (if how == "locked" then lock else own) $ \sofar -> do
          more <- evaluate (total (4000 + k + number))
          pure $! sofar + more
      putMVar done ()
    labelThread thread ("locker-" ++ show number)
    pure done
  mapM_ takeMVar dones

total :: Int -> Integer
total upTo = sum [1 .. toInteger upTo]
{-# NOINLINE total #-}
