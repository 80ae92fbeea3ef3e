-- The example of hs-safescope's documentation: two threads compute, one of them sleeps for two seconds in C.
module Main (main) where

import Control.Concurrent
import Data.IORef
import Debug.Trace (traceEventIO)
import Foreign.C.Types (CInt (..))
import GHC.Stack (ccsToStrings, getCurrentCCS)
import System.IO.Unsafe (unsafePerformIO)

foreign import ccall safe "bar_wrapper" bar_wrapper :: CInt -> CInt -> IO ()

{-# NOINLINE bar_cnt #-}
bar_cnt :: IORef CInt
bar_cnt = unsafePerformIO (newIORef 0)

bar :: CInt -> IO ()
bar a1 = do
  c <- atomicModifyIORef' bar_cnt (\n -> (n + 1, n))
  traceEventIO ("START " ++ show c ++ " bar")
  traceEventIO . (("ANN_SCC " ++ show c ++ " bar ") ++) . show =<< ccsToStrings =<< getCurrentCCS ()
  bar_wrapper c a1
  traceEventIO ("STOP " ++ show c ++ " bar")

fib :: Int -> Int
fib 1 = 1
fib 2 = 1
fib n = fib (n - 1) + fib (n - 2)

main :: IO ()
main = do
  done <- newEmptyMVar
  _ <- forkIO (print (fib 37) >> putMVar done ())
  bar 10
  print (fib 36)
  takeMVar done
