-- | Two threads that answer each other, one of them main, which has an OS thread of its own.
--
-- > Ping bound      main itself
-- > Ping unbound    the same work in a thread without an OS thread of its own
module Main (main) where

import Control.Concurrent
import Control.Monad
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  myThreadId >>= (`labelThread` "main")
  if how == "bound" then play else runInUnboundThread play

play :: IO ()
play = do
  ping <- newEmptyMVar
  pong <- newEmptyMVar
  partner <- forkIO (forever (takeMVar ping >>= putMVar pong))
  labelThread partner "partner"
  replicateM_ 2500 (putMVar ping () >> takeMVar pong)
