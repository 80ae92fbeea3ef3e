-- | A thread that looks again and again whether something has happened.
--
-- > Poll poll    it looks, and sleeps for a while
-- > Poll wait    it is told
module Main (main) where

import Control.Concurrent
import Control.Monad
import Data.IORef
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  happened <- newIORef False
  told <- newEmptyMVar
  done <- newEmptyMVar
  let look = readIORef happened >>= \yes -> unless yes (threadDelay 200 >> look)
  watcher <- forkIO ((if how == "poll" then look else takeMVar told) >> putMVar done ())
  labelThread watcher "watcher"
  threadDelay 500000
  writeIORef happened True
  putMVar told ()
  takeMVar done
