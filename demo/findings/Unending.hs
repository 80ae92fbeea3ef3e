-- | Threads that wait for an answer.
--
-- > Unending never     one after the other, and none gets its answer
-- > Unending answer    one after the other, and each gets its answer
-- > Unending third     one after the other, and one in three gets no answer
-- > Unending pool      all at once, and none gets work
-- > Unending beats     one after the other, and each wakes now and then
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import Data.IORef
import System.Environment (getArgs)

main :: IO ()
main = runInUnboundThread $ do
  [how] <- getArgs
  kept <- newIORef []
  let ask = do
        answer <- newEmptyMVar
        _ <- forkIO (if how == "beats" then forever (threadDelay 20000) else takeMVar answer)
        modifyIORef kept (answer :)
        pure answer
      work k = void (evaluate (total (1000 + k)))
  if how == "pool"
    then replicateM_ 1100 ask >> yield >> forM_ [1 .. 1100] work
    else forM_ [1 .. if how == "third" then 3600 else 1100] $ \k -> do
      answer <- ask
      yield
      when (how == "answer" || how == "third" && k `mod` 3 /= 0) (putMVar answer ())
      work k
  forM_ [1 .. 150] work
  readIORef kept >>= print . length

total :: Int -> Integer
total upTo = sum [1 .. toInteger upTo]
{-# NOINLINE total #-}
