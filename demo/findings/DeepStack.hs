-- A thread whose stack grows: a sum that is only added up on the way back. With an
-- accumulator it needs no stack.
--
-- > DeepStack deep
-- > DeepStack flat
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Data.List (foldl')
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  done <- newEmptyMVar
  thread <- forkIO (evaluate (add how [1 .. 1000000]) >>= putMVar done)
  labelThread thread "summer"
  takeMVar done >>= print

add :: String -> [Integer] -> Integer
add "deep" = foldr (+) 0
add _ = foldl' (+) 0
{-# NOINLINE add #-}
