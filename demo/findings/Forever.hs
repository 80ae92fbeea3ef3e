-- | A worker that fails without its answer: the one that waits hangs until a collection finds that.
--
-- > Forever lost     the worker ends without an answer
-- > Forever answer   the worker always answers
module Main (main) where

import Control.Concurrent
import Control.Exception
import Control.Monad
import Foreign.StablePtr (newStablePtr)
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  over <- newEmptyMVar
  -- Else main would wait forever too, with the client.
  _ <- newStablePtr over
  client <- forkIO $ do
    forM_ [1 .. 4 :: Int] $ \number -> do
      answer <- newEmptyMVar
      _ <- forkIO $ do
        total <- evaluate (sum [1 .. toInteger (20000 + number)])
        unless (how == "lost") (putMVar answer total)
      (void (takeMVar answer)) `catch` \BlockedIndefinitelyOnMVar -> pure ()
    putMVar over ()
  labelThread client "client"
  takeMVar over
