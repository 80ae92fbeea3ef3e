-- | A thread that kills others, which are in work that must not be interrupted.
--
-- > Throw masked    they mask exceptions for all of their work
-- > Throw free      they do not
-- > Throw asleep    they sleep with masked exceptions
-- > Throw often     there are many, and each sleeps for 4 ms
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
  forM_ [1 .. if how == "often" then 50 else 5] $ \k -> do
    let work = void (evaluate (total (3000000 + k)))
    victim <- forkIO $ case how of
      "masked" -> uninterruptibleMask_ work
      "asleep" -> uninterruptibleMask_ (threadDelay 30000)
      "often" -> uninterruptibleMask_ (threadDelay 4000)
      _ -> work
    labelThread victim ("victim-" ++ show k)
    threadDelay 1000
    killThread victim

total :: Int -> Integer
total upTo = sum [1 .. toInteger upTo]
{-# NOINLINE total #-}
