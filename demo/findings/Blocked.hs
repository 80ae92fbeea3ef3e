{-# LANGUAGE ForeignFunctionInterface #-}
-- | Eight threads that call C code which waits, and work in between. Without -threaded each call stops them all.
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import GHC.Conc (labelThread)

foreign import ccall safe "usleep" usleep :: Int -> IO Int

-- | Work of about a tenth of a millisecond.
work :: Int -> Int
work seed = length (filter odd (take 20000 (iterate (\x -> (x * 1103515245 + 12345) `mod` 2147483648) seed)))

main :: IO ()
main = do
  dones <- forM [1 .. 8 :: Int] $ \number -> do
    done <- newEmptyMVar
    thread <- forkIO $ do
      forM_ [1 .. 10] $ \call -> usleep 3000 >> evaluate (work (number + call))
      putMVar done ()
    labelThread thread ("caller-" ++ show number)
    pure done
  mapM_ takeMVar dones
