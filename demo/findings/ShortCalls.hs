{-# LANGUAGE ForeignFunctionInterface #-}
-- | Calls of a C function that takes nanoseconds.
--
-- > ShortCalls safe      imported as safe
-- > ShortCalls unsafe    imported as unsafe
-- > ShortCalls sleep     safe calls that take long
-- > ShortCalls threads   imported as safe, by four threads
-- > ShortCalls kernel    safe calls that ask the kernel about a file
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import GHC.Conc (labelThread)
import Foreign.C.String (CString, withCString)
import System.Environment (getArgs)

foreign import ccall safe "math.h sin" safeSin :: Double -> Double
foreign import ccall unsafe "math.h sin" unsafeSin :: Double -> Double
foreign import ccall safe "unistd.h access" access :: CString -> Int -> IO Int
foreign import ccall safe "unistd.h usleep" sleep :: Int -> IO Int

main :: IO ()
main = do
  [how] <- getArgs
  done <- newEmptyMVar
  let callers = if how == "threads" then 4 else 1
  replicateM_ callers $ do
    caller <- forkIO . withCString "/usr/share/../share/../share/../lib" $ \path -> do
      forM_ [1 .. 5500] $ \k -> case how of
        "unsafe" -> void (evaluate (unsafeSin k))
        "kernel" -> void (access path 0)
        "sleep" -> when (k <= 100) (void (sleep 100))
        _ -> void (evaluate (safeSin k))
      putMVar done ()
    labelThread caller "caller"
  replicateM_ callers (takeMVar done)
