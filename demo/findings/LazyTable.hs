-- | Four threads fill a table, and main needs what is in it.
--
-- > LazyTable lazy      they put thunks into it, which main evaluates alone
-- > LazyTable strict    they evaluate what they put into it
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import qualified Data.Map as Map
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  myThreadId >>= (`labelThread` "main")
  table <- newMVar Map.empty
  dones <- forM [0 .. 3] $ \n -> do
    done <- newEmptyMVar
    thread <- forkIO $ do
      forM_ [1 .. 400] $ \i -> do
        let value = slow (7 * n + i)
        when (how == "strict") (void (evaluate value))
        modifyMVar_ table (pure . Map.insert (1000 * n + i) value)
      putMVar done ()
    labelThread thread ("filler-" ++ show n)
    pure done
  mapM_ takeMVar dones
  filled <- readMVar table
  void (evaluate (sum (Map.elems filled)))

slow :: Int -> Int
slow from = length (filter even [from .. from + 30000])
{-# NOINLINE slow #-}
