-- | Threads that are tied to one capability, while the others have nothing to do.
--
-- > Placed one 4    four threads on capability 0
-- > Placed any 4    four threads where there is room
-- > Placed one 4 nameless    the same as the first, without labels
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  place : count : names <- getArgs
  let fork work = if place == "one" then forkOn 0 work else forkIO work
  dones <- forM [1 .. read count] $ \number -> do
    done <- newEmptyMVar
    thread <- fork (mapM_ (evaluate . total . (+ number)) [300000 .. 300015] >> putMVar done ())
    when (null names) (labelThread thread ("worker-" ++ show number))
    pure done
  mapM_ takeMVar dones

-- | Takes time, and allocates, so that the thread can be interrupted.
total :: Int -> Integer
total upTo = sum [1 .. toInteger upTo]
{-# NOINLINE total #-}
