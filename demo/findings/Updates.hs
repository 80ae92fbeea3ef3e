-- | Threads that wait for each other's thunks.
--
-- > Updates shared     four threads update one value lazily
-- > Updates own        each updates a value of its own
-- > Updates first      three threads need what the first one evaluates
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import Data.IORef
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  shared <- newIORef 0
  values <- newIORef (map step [1 .. 400])
  done <- newEmptyMVar
  forM_ [1 .. 4 :: Int] $ \n -> do
    own <- newIORef 0
    thread <- forkIO $ do
      case how of
        "shared" -> replicateM_ 1000 (update shared)
        "own" -> replicateM_ 1000 (update own)
        _ -> do
          when (n > 1) (threadDelay 2000)
          list <- readIORef values
          void (evaluate (if n == 1 then sum list else list !! (399 - n)))
      putMVar done ()
    labelThread thread ("updater-" ++ show n)
  replicateM_ 4 (takeMVar done)

-- | Writes a thunk that needs the value before it, and forces it.
update :: IORef Int -> IO Int
update cell = evaluate =<< atomicModifyIORef cell (\value -> let next = step value in (next, next))

-- | Work of some microseconds.
step :: Int -> Int
step n = foldr (\i sum' -> if odd (i + n) then sum' + i else sum') n [1 .. 3000] `mod` 1000
{-# NOINLINE step #-}
