-- | A thread that kills others, which are in work that must not be interrupted.
--
-- > Throw masked    they mask exceptions for all of their work
-- > Throw free      they do not
-- > Throw asleep    they sleep with masked exceptions
module Main (main) where

import Control.Concurrent
import Control.Exception
import Control.Monad
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  myThreadId >>= (`labelThread` "killer")
  forM_ [1 .. 5] $ \k -> do
    let work = void (evaluate (total (3000000 + k)))
    victim <- forkIO $ case how of
      "masked" -> uninterruptibleMask_ work
      "asleep" -> uninterruptibleMask_ (threadDelay 30000)
      _ -> work
    labelThread victim ("victim-" ++ show k)
    threadDelay 1000
    killThread victim

total :: Int -> Integer
total upTo = sum [1 .. toInteger upTo]
{-# NOINLINE total #-}
