-- | Two threads that answer each other, and do little work between.
--
-- > HandOver apart 1      on two capabilities, a wakeup for each item
-- > HandOver apart 100    the same items, a hundred for each wakeup
-- > HandOver together 1   on one capability, a wakeup for each item
-- > HandOver main 1       on two capabilities, and main asks
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how, size] <- getArgs
  let batch = read size
      other = if how == "together" then 0 else 1
      rounds = 2000 `div` batch
  ask <- newEmptyMVar
  answer <- newEmptyMVar
  done <- newEmptyMVar
  server <- forkOn other $ replicateM_ rounds $ do
    items <- takeMVar ask
    forM_ items work
    putMVar answer ()
  labelThread server "server"
  let client = replicateM_ rounds $ do
        putMVar ask [1 .. batch]
        takeMVar answer
  if how == "main"
    then client
    else do
      asks <- forkOn 0 (client >> putMVar done ())
      labelThread asks "client"
      takeMVar done

work :: Int -> IO ()
work k = void (evaluate (sum [1 .. toInteger (200 + k)]))
{-# NOINLINE work #-}
