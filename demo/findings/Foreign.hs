{-# LANGUAGE ForeignFunctionInterface #-}
-- | Many threads in safe foreign calls at once: each holds a thread of the operating system.
--
-- > Foreign 100    a hundred calls at once
-- > Foreign 4      four
module Main (main) where

import Control.Concurrent
import Control.Monad
import GHC.Conc (labelThread)
import System.Environment (getArgs)

foreign import ccall safe "usleep" usleep :: Int -> IO Int

main :: IO ()
main = do
  [count] <- getArgs
  dones <- forM [1 .. read count] $ \number -> do
    done <- newEmptyMVar
    thread <- forkIO (usleep 300000 >> putMVar done ())
    labelThread thread ("caller-" ++ show (number :: Int))
    pure done
  mapM_ takeMVar dones
